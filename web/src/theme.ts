// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system says until the reader chooses; charts are drawn again when it changes.
import {createContext} from "preact";

export type Theme = "light" | "dark";

export const ThemeContext = createContext<Theme>("light");

export function setTheme(theme: Theme): Theme {
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("gapless-theme", theme);
  } catch {
    // A file opened from disk may have no storage; the choice lasts until the page is closed.
  }
  return theme;
}

export function initialTheme(): Theme {
  let chosen: string | null = null;
  try {
    chosen = localStorage.getItem("gapless-theme");
  } catch {
    // No storage: as the system says.
  }
  const dark = chosen === null ? matchMedia("(prefers-color-scheme: dark)").matches : chosen === "dark";
  const theme = dark ? "dark" : "light";
  document.documentElement.dataset.theme = theme;
  return theme;
}

/** The value of a colour of style.css as it is now. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
