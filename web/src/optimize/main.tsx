// SPDX-License-Identifier: Apache-2.0
// The page of `gapless optimize`: reads the data inlined in this one and draws it.
import "../style.css";
import {render} from "preact";
import {OptimizeApp} from "./app";
import type {OptimizePage} from "./data";

const inlined = JSON.parse(document.getElementById("data")?.textContent ?? "") as OptimizePage;
const app = document.getElementById("app");
document.title = `${inlined.optimize.command} · gapless`;
if (app) render(<OptimizeApp inlined={inlined} />, app);
