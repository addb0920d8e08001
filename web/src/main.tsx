// SPDX-License-Identifier: Apache-2.0
// The report: reads the data inlined in the page and draws it. It computes nothing: it formats, chooses and leaves out.
import "./style.css";
import {render} from "preact";
import {App} from "./app";
import {decode} from "./data";

const data = decode(document.getElementById("data")?.textContent ?? "");
document.title = `${data.page.subject} · gapless`;
const app = document.getElementById("app");
if (app) render(<App data={data} />, app);
