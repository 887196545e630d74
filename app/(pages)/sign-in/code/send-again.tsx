"use client";

import { useEffect, useState } from "react";

const waitSeconds = 30; // most mails are there by then

/** The button that asks for another code: at once without a script, and otherwise once a mail had time to come. */
export function SendAgain() {
  const [left, setLeft] = useState(0);

  useEffect(() => {
    setLeft(waitSeconds);
    const ticking = setInterval(() => setLeft((seconds) => Math.max(0, seconds - 1)), 1000);
    return () => clearInterval(ticking);
  }, []);

  return (
    <button type="submit" className="plain" disabled={left > 0}>
      {left > 0 ? `Send again in ${left} s` : "Send again"}
    </button>
  );
}
