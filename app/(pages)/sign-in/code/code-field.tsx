"use client";

import { type ComponentProps, useEffect, useRef } from "react";

type CodeFieldProps = Omit<ComponentProps<"input">, "name" | "id"> & {
  /** How many figures make it whole; without a number nothing is sent by itself. */
  figures?: number;
};

/** The field of a code. Whole, it sends itself, once; of what is pasted, the figures count. */
export function CodeField({ figures, ...attributes }: CodeFieldProps) {
  const field = useRef<HTMLInputElement>(null);

  useEffect(() => {
    const form = field.current?.form;
    let isSent = false;
    // A second press would spend a code that the first has used up.
    const once = (event: Event) => {
      if (isSent) event.preventDefault();
      isSent = true;
    };
    // Somebody who goes back finds the form as it was.
    const anew = () => {
      isSent = false;
    };
    form?.addEventListener("submit", once);
    window.addEventListener("pageshow", anew);
    return () => {
      form?.removeEventListener("submit", once);
      window.removeEventListener("pageshow", anew);
    };
  }, []);

  function sendWhole(input: HTMLInputElement) {
    const typed = input.value.replace(/\D/g, "");
    if (typed.length !== figures) return;
    input.value = typed;
    input.form?.requestSubmit();
  }

  return (
    <input
      {...attributes}
      ref={field}
      id="code"
      name="code"
      className="code"
      autoComplete="one-time-code"
      required
      onInput={(event) => sendWhole(event.currentTarget)}
    />
  );
}
