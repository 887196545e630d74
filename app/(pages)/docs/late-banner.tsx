"use client";

import { useEffect, useState } from "react";
import type { SiteBanner } from "@/lib/site-banner";

/** The notice on a page that the build has made: asked for when it opens, at the foot, where it moves nothing. */
export function LateBanner() {
  const [banner, setBanner] = useState<SiteBanner | null>(null);

  useEffect(() => {
    fetch("/api/site-banner")
      .then((answer) => answer.json())
      .then((answer) => setBanner(answer.banner ?? null))
      .catch(() => {});
  }, []);

  if (!banner) return null;
  return (
    <aside className="banner late" data-kind={banner.kind} aria-label="Notice">
      {banner.message}
    </aside>
  );
}
