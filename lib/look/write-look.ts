import { mkdirSync, writeFileSync } from "node:fs";
import { markAsSvg } from "@/lib/look/mark";
import { tokensAsCss } from "@/lib/look/tokens";

/* A program of the build: what the style sheets and the browser's tab take from the tokens and the mark. */

mkdirSync("dist/look", { recursive: true });
writeFileSync("dist/look/tokens.css", tokensAsCss());
writeFileSync("public/favicon.svg", markAsSvg());
