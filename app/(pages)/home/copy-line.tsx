"use client";

import { useState } from "react";

type CopyLineProps = { text: string; label: string };

/** A line of text with a button that copies it. Without JavaScript, the line can be selected. */
export function CopyLine({ text, label }: CopyLineProps) {
  const [said, setSaid] = useState("");

  async function copy() {
    const copied = await Promise.resolve(navigator.clipboard?.writeText(text)).then(
      () => navigator.clipboard !== undefined,
      () => false,
    );
    setSaid(copied ? "Copied." : "Your browser did not copy it. Select the line and copy it.");
  }

  return (
    <div className="copy-line">
      <code>{text}</code>
      <button type="button" className="plain with-script" aria-label={`Copy ${label}`} onClick={copy}>
        Copy
      </button>
      <span role="status">{said}</span>
    </div>
  );
}
