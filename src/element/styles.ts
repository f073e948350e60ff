/**
 * The style sheet of the element. `light-dark()` follows the `color-scheme` of the page. Internal variables begin with `--_`, so that a
 * page may set `--stac-auth-line: var(--line)` on the element itself.
 */
export const styles = `
:host {
  display: block;
  container-type: inline-size;
  font: var(--stac-auth-font, inherit);
  line-height: 1.5;
  --_ink: var(--stac-auth-text, light-dark(#18211f, #e5ebe8));
  --_muted: var(--stac-auth-muted, light-dark(#55625f, #a2b0ac));
  --_surface: var(--stac-auth-surface, light-dark(#ffffff, #171e1c));
  --_raised: var(--stac-auth-raised, light-dark(#f5f6f4, #101514));
  --_line: var(--stac-auth-line, light-dark(#d9dfdb, #2c3834));
  --_edge: var(--stac-auth-edge, light-dark(#7c8885, #7d8b87));
  --_accent: var(--stac-auth-accent, light-dark(#0b6456, #62cdb8));
  --_on-accent: var(--stac-auth-on-accent, light-dark(#ffffff, #04211b));
  --_good: var(--stac-auth-good, light-dark(#1a6334, #86d9a1));
  --_good-ground: var(--stac-auth-good-ground, light-dark(#e3f3e8, #16301f));
  --_caution: var(--stac-auth-caution, light-dark(#7a4b00, #efc074));
  --_caution-ground: var(--stac-auth-caution-ground, light-dark(#fcf0d9, #33260f));
  --_bad: var(--stac-auth-bad, light-dark(#9c2127, #f2a2a2));
  --_bad-ground: var(--stac-auth-bad-ground, light-dark(#fbe9e9, #3a1a1b));
  --_radius: var(--stac-auth-radius, 8px);
  --_code: var(--stac-auth-code-font, ui-monospace, "SF Mono", "Cascadia Mono", "Liberation Mono", monospace);
}
:host([hidden]) { display: none; }
*, ::before, ::after { box-sizing: border-box; }
[part="panel"] {
  padding: 1rem;
  border: 1px solid var(--_line);
  border-radius: var(--_radius);
  background: var(--_surface);
  color: var(--_ink);
  overflow-wrap: anywhere;
}
p, ul, dl, dd, blockquote, fieldset { margin: 0; padding: 0; border: 0; }
ul { list-style: none; }
[part="heading"] { font-size: 1.15em; font-weight: 650; line-height: 1.3; }
[part="title"] { font-weight: 620; line-height: 1.35; }
[part="question"] { font-weight: 620; }
[part="heading"]:focus, [part="title"]:focus, [part="question"]:focus { outline: none; }
.muted, .summary, dt { color: var(--_muted); font-size: 0.92em; }
.said { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.groups:not(:empty), .problem:not(:empty), ::slotted(*) { margin-top: 0.85rem; }
.groups, [part="providers"] { display: grid; gap: 0.75rem; grid-template-columns: minmax(0, 1fr); }
[part="choice"] { padding-inline-start: 0.75rem; border-inline-start: 3px solid var(--_line); }
[part="any-of"] { margin-bottom: 0.5rem; font-weight: 560; }
[part="provider"] {
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: 0.6rem;
  padding: 0.85rem;
  border: 1px solid var(--_line);
  border-radius: var(--_radius);
  background: var(--_raised);
}
.head { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.35rem 0.75rem; }
.badge {
  display: inline-flex;
  align-items: center;
  gap: 0.3rem;
  padding: 0.1rem 0.55rem;
  border-radius: 999px;
  background: var(--_caution-ground);
  color: var(--_caution);
  font-size: 0.82em;
  font-weight: 580;
}
.badge.ready { background: var(--_good-ground); color: var(--_good); }
.badge.unsupported, .badge.refused { background: var(--_bad-ground); color: var(--_bad); }
.icon {
  flex: none;
  width: 1.1em;
  height: 1.1em;
  fill: none;
  stroke: currentcolor;
  stroke-width: 2;
  stroke-linecap: round;
  stroke-linejoin: round;
}
blockquote { margin-top: 0.15rem; padding-inline-start: 0.65rem; border-inline-start: 3px solid var(--_edge); font-style: italic; }
[part="sites"], [part="error"], [part="caution"] {
  display: flex;
  gap: 0.6rem;
  padding: 0.6rem 0.7rem;
  border-radius: calc(var(--_radius) - 2px);
  background: var(--_caution-ground);
  color: var(--_caution);
}
[part="caution"] { display: block; }
[part="sites"] { border: 1px solid currentcolor; }
[part="sites"] > div, [part="error"] > div { flex: 1; min-width: 0; }
[part="sites"] > .icon, [part="error"] > .icon { margin-top: 0.2em; }
[part="sites"] dt, [part="error"] dt { color: inherit; }
[part="error"] { background: var(--_bad-ground); color: var(--_bad); }
code { font-family: var(--_code); font-size: 0.92em; overflow-wrap: anywhere; }
code strong { font-weight: 700; }
dl { margin-top: 0.4rem; }
dl { display: grid; grid-template-columns: fit-content(40%) minmax(0, 1fr); gap: 0.25rem 0.9rem; align-items: baseline; }
dd { grid-column: 2; }
summary { min-height: 1.5rem; cursor: pointer; width: fit-content; font-size: 0.92em; }
[part="details"] > summary, [part="more"] > summary { color: var(--_muted); }
[part="form"], [part="consent"], [part="more"][open], fieldset { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.6rem; }
.field { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.25rem; }
.check { display: flex; align-items: start; gap: 0.5rem; min-height: 1.5rem; }
label { font-weight: 560; }
.check label { font-weight: 400; flex: 1; min-width: 0; min-height: 1.5rem; }
legend { padding: 0; margin-bottom: 0.4rem; }
input, select, textarea, button { font: inherit; color: inherit; }
input:not([type="checkbox"]), select, textarea {
  width: 100%;
  min-height: 2.35rem;
  padding: 0.35rem 0.65rem;
  border: 1px solid var(--_edge);
  border-radius: calc(var(--_radius) - 2px);
  background: var(--_surface);
}
textarea { font-family: var(--_code); resize: vertical; }
input[type="checkbox"] { flex: none; width: 1.5rem; height: 1.5rem; margin: 0; accent-color: var(--_accent); }
.actions { display: flex; flex-wrap: wrap; gap: 0.5rem; }
button {
  min-height: 2.35rem;
  padding: 0.3rem 0.9rem;
  border: 1px solid var(--_accent);
  border-radius: calc(var(--_radius) - 2px);
  background: var(--_accent);
  color: var(--_on-accent);
  font-weight: 560;
  cursor: pointer;
}
[part~="button-secondary"] { border-color: var(--_edge); background: transparent; color: var(--_ink); }
button:hover { text-decoration: underline; text-underline-offset: 0.2em; }
button[aria-disabled="true"] { cursor: progress; }
:is(button, input, select, textarea, summary):focus-visible { outline: 3px solid var(--_accent); outline-offset: 2px; }
.addresses { display: grid; gap: 0.2rem; }
@container (max-width: 26rem) {
  dl { display: block; }
  dd + dt { margin-top: 0.35rem; }
  .actions > button { flex: 1 1 100%; }
}
@media (forced-colors: active) {
  .badge, button { border: 1px solid; }
}
`
