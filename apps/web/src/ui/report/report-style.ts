/** The styles of a report in light and dark, with the colours that charts of the pages name. */
export const REPORT_STYLE = `
:root {
  color-scheme: light dark;
  --mantine-primary-color-filled: light-dark(#3b5bdb, #748ffc);
  --mantine-color-default-border: light-dark(#ced4da, #495057);
  --mantine-color-dimmed: light-dark(#495057, #c1c2c5);
  --mantine-color-body: light-dark(#fff, #1a1b1e);
}
body { margin: 0; font: 14px/1.45 system-ui, sans-serif; color: light-dark(#212529, #e9ecef); background: light-dark(#fff, #1a1b1e); }
main { max-width: 1500px; margin: 0 auto; padding: 24px 16px; }
h1 { margin: 0; font-size: 22px; overflow-wrap: anywhere; }
h2 { margin: 28px 0 8px; font-size: 16px; }
.dim, small, dt { color: light-dark(#495057, #c1c2c5); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 8px; margin: 16px 0; }
dl > div { border: 1px solid light-dark(#dee2e6, #373a40); border-radius: 4px; padding: 8px; }
dd { margin: 0; font-weight: 600; }
small { display: block; font-weight: 400; }
table { border-collapse: collapse; }
.results { width: 100%; table-layout: fixed; }
th, td { text-align: start; vertical-align: top; padding: 4px 8px; border-bottom: 1px solid light-dark(#dee2e6, #373a40); overflow-wrap: anywhere; font-variant-numeric: tabular-nums; font-weight: 400; }
thead th { font-weight: 600; }
.results th:nth-child(1) { width: 84px; }
.results th:nth-child(2) { width: 90px; }
.results th:nth-child(7) { width: 60px; }
.results th:nth-child(8) { width: 84px; }
.wrong > :first-child { color: light-dark(#c92a2a, #ff8787); }
.right > :first-child { color: light-dark(#087f5b, #38d9a9); }
.error > :first-child { color: light-dark(#a34100, #ffa94d); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 12px; }
.hidden { position: absolute; clip-path: inset(50%); }
@media (max-width: 700px) { .results { table-layout: auto; } main { overflow-x: auto; } }
`;
