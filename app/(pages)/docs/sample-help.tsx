"use client";

import { useEffect } from "react";
import { placeholderAddress } from "@/lib/docs/markdown";

/** Makes samples ready to paste: they name this very service, and a button copies them. */
export function SampleHelp() {
  useEffect(() => {
    for (const code of document.querySelectorAll("article pre code")) {
      const text = code.textContent ?? "";
      if (text.includes(placeholderAddress))
        code.textContent = text.replaceAll(placeholderAddress, location.origin);
    }
    for (const sample of document.querySelectorAll(".sample:not(:has(button))")) {
      const button = document.createElement("button");
      button.className = "copy";
      button.type = "button";
      button.textContent = "Copy";
      button.onclick = async () => {
        await navigator.clipboard.writeText(`${sample.querySelector("code")?.textContent}\n`);
        button.textContent = "Copied";
      };
      sample.append(button);
    }
  }, []);
  return null;
}
