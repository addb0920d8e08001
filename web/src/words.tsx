// SPDX-License-Identifier: Apache-2.0
// Explains the words of the field where the page uses them first. The words are those of docs/glossary.md. A hook looks
// at every text that the page draws, so that no section has to know of it; the first text with a word claims the word.
// A claimed word is a button that shows its meaning on hover, focus and touch; all meanings stand in a list at the end
// of the page, which is printed, and which screen readers are pointed to.
import "./words.css";
import {type ComponentChildren, createContext, options, type VNode} from "preact";
import {useContext, useEffect, useRef, useState} from "preact/hooks";
import glossary from "../../docs/glossary.md";

interface Word {
  id: string;
  word: string;
  forms: string[];
  meaning: string;
}

/** The rows of the table: | word | other forms | meaning |. */
function read(markdown: string): Word[] {
  const rows = [...markdown.matchAll(/^\| ([^|]+) \|([^|]*)\| ([^|]+) \|$/gm)].slice(1); // the first is the head
  return rows.map(([, word = "", also = "", meaning = ""], at) => ({
    id: `word-${at}`,
    word,
    forms: [word, ...also.split(",").map((form) => form.trim())].filter((form) => form !== ""),
    meaning,
  }));
}

const WORDS = read(glossary);
const BY_FORM = new Map(WORDS.flatMap((word) => word.forms.map((form) => [form, word] as const)));
const LONGEST_FIRST = [...BY_FORM.keys()].sort((a, b) => b.length - a.length);
const ESCAPED = LONGEST_FIRST.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
// No part of a name, a path or code: neither side touches a letter or a sign that such have.
const FORMS = new RegExp(`(^|[^\\w.:/#-])(${ESCAPED.join("|")})(?![\\w(/#=-]|[.:][\\w:])`, "gi");

/** A form with capitals (SM, MFU) is written so; others may begin a sentence. */
function wordOf(text: string): Word | undefined {
  return BY_FORM.get(text) ?? BY_FORM.get(text.toLowerCase());
}

// The text that explains each word first, and the listeners to changes of it. A document has one page.
const owners = new Map<Word, object>();
let changed = () => {};

function release(owner: object) {
  for (const [word, claimed] of owners) if (claimed === owner) owners.delete(word);
}

/** The text in pieces: a word that nobody else has claimed is a piece of its own, claimed by this owner. */
function cut(text: string, owner: object): (string | {word: Word; text: string})[] {
  const pieces: (string | {word: Word; text: string})[] = [];
  let end = 0;
  for (const match of text.matchAll(FORMS)) {
    const shown = match[2] ?? "";
    const word = wordOf(shown);
    if (!word || owners.has(word)) continue;
    owners.set(word, owner);
    const at = match.index + (match[1]?.length ?? 0);
    pieces.push(text.slice(end, at), {word, text: shown});
    end = at + shown.length;
  }
  pieces.push(text.slice(end));
  return pieces;
}

/** Inside of buttons, links, explanations and what assistive tools do not see nothing is explained. */
export const Plain = createContext(false);

/** A place below the word, within the window. */
function below(button: HTMLElement): {left: string; top: string} {
  const box = button.getBoundingClientRect();
  const width = Math.min(320, innerWidth - 16); // as in words.css
  return {left: `${Math.max(8, Math.min(box.left, innerWidth - width - 8))}px`, top: `${box.bottom}px`};
}

function Explained({word, text}: {word: Word; text: string}) {
  const [place, setPlace] = useState<{left: string; top: string}>();
  const button = useRef<HTMLButtonElement>(null);
  const show = () => button.current && setPlace(below(button.current));
  const hide = () => setPlace(undefined);
  useEffect(() => {
    if (!place) return;
    const onKey = (event: KeyboardEvent) => event.key === "Escape" && hide();
    addEventListener("scroll", hide, {passive: true, capture: true});
    addEventListener("keydown", onKey);
    return () => {
      removeEventListener("scroll", hide, {capture: true});
      removeEventListener("keydown", onKey);
    };
  }, [place]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside is what keys reach
    <span class="word" onMouseEnter={show} onMouseLeave={hide}>
      <button ref={button} type="button" aria-describedby={word.id} onFocus={show} onBlur={hide} onClick={show}>
        {text}
      </button>
      {place && (
        <Plain.Provider value={true}>
          <span role="tooltip" style={place}>
            {word.meaning}
          </span>
        </Plain.Provider>
      )}
    </span>
  );
}

function Said({text}: {text: string}) {
  const me = useRef({}).current;
  const plain = useContext(Plain);
  release(me); // drawn again, maybe with another text
  const pieces = plain ? [text] : cut(text, me);
  useEffect(() => changed());
  useEffect(() => () => release(me), [me]);
  if (pieces.length === 1) return <>{text}</>;
  return (
    <>
      {pieces.map((piece) =>
        typeof piece === "string" ? piece : <Explained key={piece.word.id} word={piece.word} text={piece.text} />,
      )}
    </>
  );
}

const SPEAKS = new Set("h1 h2 h3 h4 p li div span dt dd b i em strong small".split(" "));
const IS_PLAIN = new Set("a button code label option pre summary svg td th".split(" "));

function said(child: ComponentChildren): ComponentChildren {
  if (Array.isArray(child)) return child.map(said);
  if (typeof child !== "string" || child.search(FORMS) < 0) return child;
  return <Said text={child} />;
}

/** From now on the page explains words. */
export function explainWords() {
  const before = options.vnode;
  options.vnode = (node: VNode) => {
    const props = node.props as {children?: ComponentChildren; "aria-hidden"?: unknown};
    if (typeof node.type === "string" && props.children !== undefined) {
      const plain = IS_PLAIN.has(node.type) || props["aria-hidden"] !== undefined;
      if (plain && typeof props.children !== "string")
        props.children = <Plain.Provider value={true}>{props.children}</Plain.Provider>;
      else if (!plain && SPEAKS.has(node.type)) props.children = said(props.children);
    }
    before?.(node);
  };
}

/** The meanings of all words that are explained on the page, for those who print it or cannot hover. */
export function Words() {
  const [, redraw] = useState(0);
  useEffect(() => {
    changed = () => redraw(owners.size);
    changed();
    return () => {
      changed = () => {};
    };
  }, []);
  const used = WORDS.filter((word) => owners.has(word));
  if (used.length === 0) return null;
  return (
    <section id="words">
      <header>
        <h2>Words of this page</h2>
      </header>
      <Plain.Provider value={true}>
        <dl class="words">
          {used.map(({id, word, meaning}) => (
            <div key={id}>
              <dt>{word}</dt>
              <dd id={id}>{meaning}</dd>
            </div>
          ))}
        </dl>
      </Plain.Provider>
    </section>
  );
}
