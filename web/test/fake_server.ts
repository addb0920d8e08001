// SPDX-License-Identifier: Apache-2.0
// Answers the routes of `gapless serve` that a timeline asks, from a synthetic recording, and counts what it was asked.
import {createServer, type Server} from "node:http";
import type {AddressInfo} from "node:net";
import type {Synthetic} from "./synthetic";

export class FakeServer {
  readonly asked: string[] = [];
  atOnce = 0; // requests that wait for their answer
  delay = 0; // ms until a tile is answered
  failing = false;
  private server: Server | undefined;

  constructor(
    private readonly recording: Synthetic,
    private readonly page: string,
  ) {}

  async listen(): Promise<string> {
    this.server = createServer((request, response) => {
      const address = new URL(request.url ?? "/", "http://localhost");
      if (address.pathname === "/") {
        response.setHeader("content-type", "text/html");
        response.end(this.page);
        return;
      }
      this.asked.push(address.pathname + address.search);
      this.atOnce += 1;
      let open = true;
      const close = () => {
        if (open) this.atOnce -= 1;
        open = false;
      };
      response.on("close", close);
      setTimeout(
        () => {
          const answer = response.destroyed || this.failing ? undefined : this.answer(address);
          close();
          response.statusCode = answer === undefined ? (this.failing ? 500 : 404) : 200;
          response.setHeader("content-type", "application/json");
          response.end(JSON.stringify(answer ?? {error: {code: "none", message: "there is none", hint: ""}}));
        },
        address.pathname.endsWith("/tile") ? this.delay : 0,
      );
    });
    await new Promise<void>((done) => this.server?.listen(0, "127.0.0.1", done));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  private answer({pathname, searchParams}: URL): unknown {
    const number = (name: string) => Number(searchParams.get(name));
    switch (pathname) {
      case "/api/runs/0/timeline":
        return this.recording.overview;
      case "/api/runs/0/tile":
        return this.recording.tile(number("trace"), number("level"), number("at"));
      case "/api/runs/0/event":
        return this.recording.event(searchParams.get("kind") ?? "", number("id"));
      case "/api/runs/0/search":
        return this.recording.search(searchParams.get("q") ?? "", number("most"));
      case "/api/runs/0/selection":
        return this.recording.selection(number("from"), number("to"), number("trace"));
      default:
        return undefined;
    }
  }

  close(): void {
    this.server?.closeAllConnections?.();
    this.server?.close();
  }
}
