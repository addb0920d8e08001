// SPDX-License-Identifier: Apache-2.0
// One chart of ECharts: drawn when it comes into view, drawn again when the theme changes, as wide as its place.
import {BarChart, HeatmapChart, LineChart, ScatterChart} from "echarts/charts";
import {
  AriaComponent,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
  VisualMapContinuousComponent,
} from "echarts/components";
import * as echarts from "echarts/core";
import {CanvasRenderer} from "echarts/renderers";
import {useContext, useEffect, useRef} from "preact/hooks";
import {onPrint, PAPER} from "./print";
import {colour, type Theme, ThemeContext} from "./theme";

echarts.use([
  AriaComponent,
  BarChart,
  CanvasRenderer,
  DataZoomComponent,
  GridComponent,
  HeatmapChart,
  LegendComponent,
  LineChart,
  MarkLineComponent,
  ScatterChart,
  TooltipComponent,
  VisualMapContinuousComponent,
]);

export type Option = echarts.EChartsCoreOption;
export type Chart = ReturnType<typeof echarts.init>;

/** Texts of a recording go into tooltips as text, never as markup. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

/** A tooltip: a first line in bold, then lines. */
export function tip(title: string, lines: readonly string[]): string {
  return `<div class="tip"><b>${escaped(title)}</b>${lines.map((line) => `<br>${escaped(line)}`).join("")}</div>`;
}

/** What all charts have in common. */
export function base(): Option {
  return {
    animation: false,
    textStyle: {fontFamily: getComputedStyle(document.body).fontFamily, color: colour("dim")},
  };
}

/** A tooltip in the colours of the page. */
export function tooltip(more: object): object {
  return {
    backgroundColor: colour("card"),
    borderColor: colour("line"),
    textStyle: {color: colour("text"), fontSize: 12.5},
    confine: true,
    extraCssText: "white-space: normal; max-width: min(480px, 90vw);",
    ...more,
  };
}

export function axis(name: string, more: object): object {
  const line = colour("line");
  return {
    name,
    nameTextStyle: {color: colour("dim")},
    axisLine: {lineStyle: {color: line}},
    axisTick: {lineStyle: {color: line}},
    axisLabel: {color: colour("dim")},
    splitLine: {lineStyle: {color: line}},
    ...more,
  };
}

/** The swatches above a chart. */
export function legend(): object {
  return {
    type: "scroll",
    top: 0,
    left: 0,
    right: 0,
    pageIconColor: colour("dim"),
    pageTextStyle: {color: colour("dim")},
    itemWidth: 10,
    itemHeight: 10,
    icon: "roundRect",
    textStyle: {color: colour("dim")},
  };
}

interface Props {
  height: number;
  label: string; // text for screen readers
  option: (theme: Theme) => Option;
  /** Called once the chart is there, and again after each redrawing. */
  ready?: (chart: Chart) => void;
}

export function ChartView({height, label, option, ready}: Props) {
  const place = useRef<HTMLDivElement>(null);
  const theme = useContext(ThemeContext);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    let chart: Chart | undefined;
    const draw = () => {
      if (chart) return;
      chart = echarts.init(element, undefined, {renderer: "canvas"});
      chart.setOption(option(theme));
      ready?.(chart);
    };
    const seen = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && draw(), {
      rootMargin: "400px",
    });
    const size = new ResizeObserver(() => chart?.resize());
    seen.observe(element);
    size.observe(element);
    const stop = onPrint((paper) => {
      draw();
      chart?.setOption(option(paper ? "light" : theme));
      chart?.resize(paper ? {width: Math.min(PAPER, element.clientWidth)} : {});
    });
    return () => {
      stop();
      seen.disconnect();
      size.disconnect();
      chart?.dispose();
    };
  }, [option, ready, theme]);
  return <div class="chart" style={{height: `${height}px`}} ref={place} role="img" aria-label={label} />;
}
