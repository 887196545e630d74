import { mkdirSync, writeFileSync } from "node:fs";
import { logoAsSvg } from "@/lib/config/logo";
import { themeAsCss } from "@/lib/config/theme";

/* Build step: writes the custom properties of the style sheets, and the favicon. */

mkdirSync("dist/theme", { recursive: true });
writeFileSync("dist/theme/theme.css", themeAsCss());
writeFileSync("public/favicon.svg", logoAsSvg());
