// SPDX-License-Identifier: Apache-2.0
// The pages: reads the data inlined in this one and draws it. It computes nothing: it formats, chooses and leaves out.
import "./style.css";
import {render} from "preact";
import {App} from "./app";
import {decode, type Inlined} from "./data";
import {printLight} from "./print";
import {SiteApp, type SiteView} from "./served/site";
import {TrendApp} from "./trend/app";
import {decodeTrends, type TrendPage} from "./trend/data";
import {explainWords} from "./words";

const inlined = JSON.parse(document.getElementById("data")?.textContent ?? "") as Inlined | TrendPage | SiteView;
const app = document.getElementById("app");
printLight();
if ("trend" in inlined) {
  const trend = decodeTrends(inlined);
  document.title = `${trend.subject} · gapless`;
  if (app) render(<TrendApp trend={trend} />, app);
} else if ("view" in inlined) {
  if (app) render(<SiteApp view={inlined} />, app);
} else {
  const data = decode(inlined);
  explainWords();
  document.title = `${data.page.subject} · gapless`;
  if (app) render(<App data={data} />, app);
}
