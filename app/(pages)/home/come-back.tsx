"use client";

import { useEffect } from "react";
import { openOnceAnswered } from "../browser/try-again";
import { TryAgain } from "../try-again";

/** Reloads home as soon as it can be shown. */
export function ComeBack({ at }: { at: string }) {
  useEffect(() => {
    const trying = openOnceAnswered(at);
    return () => clearInterval(trying);
  }, [at]);

  return <TryAgain at={at} />;
}
