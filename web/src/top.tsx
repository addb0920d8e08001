// SPDX-License-Identifier: Apache-2.0
// The bar above a page: what it is about, its parts, the other pages of the server, and the colours. Where there is no room
// for the parts they are behind a button.
import {useEffect, useLayoutEffect, useRef, useState} from "preact/hooks";
import {type Place, Views} from "./served/views";
import type {Theme} from "./theme";

const FOLDED_PX = 1100; // below, the report has one column, and the menu is folded

interface Props {
  subject: string;
  path: string;
  sections: readonly {id: string; name: string}[];
  theme: Theme;
  toggle: () => void;
  place?: Place | undefined; // where a server shows it
}

/** Escape and whatever leads away close it; the button has the focus again. */
function useMenu() {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const close = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      setOpen(false);
      button.current?.focus();
    };
    const leave = (event: Event) => {
      const target = event.target as Node;
      if (!menu.current?.contains(target) && !button.current?.contains(target)) setOpen(false);
    };
    document.addEventListener("keydown", close);
    document.addEventListener("pointerdown", leave);
    document.addEventListener("focusin", leave);
    return () => {
      document.removeEventListener("keydown", close);
      document.removeEventListener("pointerdown", leave);
      document.removeEventListener("focusin", leave);
    };
  }, [open]);
  return {open, setOpen, button, menu};
}

/** Folds the menu of a bar that is too narrow for it: its parts are known only once they are drawn. */
function useFolding() {
  const bar = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const top = bar.current;
    const inner = top?.firstElementChild;
    const menu = inner?.querySelector(".menu");
    if (!top || !inner || !menu) return;
    const look = () => {
      top.dataset["folded"] = "false";
      top.dataset["folded"] = String(top.clientWidth <= FOLDED_PX || inner.scrollWidth > inner.clientWidth);
    };
    look();
    const size = new ResizeObserver(look);
    size.observe(top);
    size.observe(menu);
    return () => size.disconnect();
  });
  return bar;
}

export function Top({subject, path, sections, theme, toggle, place}: Props) {
  const {open, setOpen, button, menu} = useMenu();
  const bar = useFolding();
  return (
    <div class="top" ref={bar}>
      <div class="wrap">
        <span class="brand">
          <i />
          <i />
          <i />
          gapless
        </span>
        <span class="file" title={path}>
          {subject}
        </span>
        <div id="menu" class="menu" ref={menu} data-open={open}>
          {place && <Views place={place} />}
          {sections.length > 0 && (
            <nav aria-label="Sections">
              {sections.map(({id, name}) => (
                <a key={id} href={`#${id}`} onClick={() => setOpen(false)}>
                  {name}
                </a>
              ))}
            </nav>
          )}
        </div>
        {(sections.length > 0 || place) && (
          <button
            type="button"
            class="opens-menu"
            ref={button}
            aria-expanded={open}
            aria-controls="menu"
            onClick={() => setOpen(!open)}
          >
            ☰ Menu
          </button>
        )}
        <button type="button" onClick={toggle} aria-label={`Switch to ${theme === "dark" ? "light" : "dark"} colours`}>
          {theme === "dark" ? "☀" : "☾"}
        </button>
      </div>
    </div>
  );
}
