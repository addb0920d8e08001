// SPDX-License-Identifier: Apache-2.0
// Questions to the server, once or again and again: an answer that has not changed is not sent twice.
import {useEffect, useState} from "preact/hooks";

export const POLL_MS = 2000;

export interface Answer<T> {
  body?: T;
  problem: string; // why there is none, or none that is new; empty: all is well
}

async function answerOf<T>(path: string, tag: string): Promise<{body?: T; tag: string}> {
  const response = await fetch(path, {headers: tag ? {"If-None-Match": tag} : {}, cache: "no-store"});
  if (response.status === 304) return {tag};
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.error?.message ?? `${response.status} ${response.statusText}`);
  return {body: body as T, tag: response.headers.get("ETag") ?? ""};
}

/** The answer to a GET; asked again every two seconds as long as `again` says so. No path: nothing is asked. */
export function useAnswer<T>(
  path: string | undefined,
  again: (body: T | undefined) => boolean = () => false,
): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({problem: ""});
  useEffect(() => {
    if (path === undefined) return;
    let tag = "";
    let last: T | undefined;
    let timer = 0;
    let over = false;
    const ask = async () => {
      try {
        const got = await answerOf<T>(path, tag);
        if (over) return;
        tag = got.tag;
        if (got.body !== undefined) last = got.body;
        setAnswer((before) =>
          got.body === undefined && before.problem === "" ? before : {...(last && {body: last}), problem: ""},
        );
      } catch (error) {
        if (over) return;
        setAnswer({...(last && {body: last}), problem: (error as Error).message});
      }
      if (again(last)) timer = window.setTimeout(ask, POLL_MS);
    };
    setAnswer({problem: ""});
    ask();
    return () => {
      over = true;
      window.clearTimeout(timer);
    };
  }, [path]);
  return answer;
}
