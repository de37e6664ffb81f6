// What every page has around its sections: the title, a way to the sections, and the choice of light or dark.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

const KEY = "rlprof-theme";
const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

function remembered(): Theme {
  try {
    const theme = localStorage.getItem(KEY);
    return THEMES.find((known) => known === theme) ?? "auto";
  } catch {
    return "auto"; // a page from a file may have no storage
  }
}

function apply(theme: Theme): void {
  document.documentElement.dataset["theme"] = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // it then lasts as long as the page
  }
}

export function prepareTheme(): void {
  document.documentElement.dataset["theme"] = remembered();
}

function ThemeChoice() {
  const [theme, setTheme] = useState(remembered);
  const choose = (next: Theme) => {
    apply(next);
    setTheme(next);
  };
  return (
    <div class="themes" role="group" aria-label="Theme">
      {THEMES.map((name) => (
        <button type="button" aria-pressed={theme === name} onClick={() => choose(name)}>
          {name}
        </button>
      ))}
    </div>
  );
}

export interface Entry {
  id: string;
  title: string;
}

interface ShellProps {
  title: string;
  above: ComponentChildren;
  entries: Entry[];
  children: ComponentChildren;
  foot: ComponentChildren;
}

export function Shell({ title, above, entries, children, foot }: ShellProps) {
  return (
    <>
      <a class="skip" href="#content">
        Skip to the report
      </a>
      <header>
        <div class="topline">
          <span class="brand">rlprof</span>
          <ThemeChoice />
        </div>
        <h1>{title}</h1>
        {above}
      </header>
      <nav aria-label="Sections">
        <ul>
          {entries.map((entry) => (
            <li>
              <a href={`#${entry.id}`}>{entry.title}</a>
            </li>
          ))}
        </ul>
      </nav>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <footer>{foot}</footer>
    </>
  );
}
