// SPDX-License-Identifier: Apache-2.0
// One HTML file that needs nothing else: the page of web/, bundled when the program was built, with the data of the run
// (page_data.h) in place of its marker.
//
// The data are inert (page.h), and the page's content security policy lets only the bundled script run.
#include "report/page.h"
#include "report/page_data.h"
#include "report/renderer.h"

namespace gapless::internal::html_renderer {
namespace {

std::string Render(const Report& report, const RenderOptions&) {
  return FilledPage(PageWithCharts(), PageData(report));
}

}  // namespace

RENDERER(html) = {.name = "html",
                  .help = "One page for a browser that needs nothing else",
                  .extension = ".html",
                  .render = Render,
                  .file = "report.html"};

}  // namespace gapless::internal::html_renderer
