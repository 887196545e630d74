"use client";

import { usePathname } from "next/navigation";

/** The documents in reading order, the one that is open marked. */
export function Contents({ pages }: { pages: { path: string; title: string }[] }) {
  const open = usePathname();
  return (
    <nav aria-label="Documents">
      <ul>
        {pages.map(({ path, title }) => (
          <li key={path}>
            <a href={path} aria-current={path === open ? "page" : undefined}>
              {title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
