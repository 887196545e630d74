import type { ReactNode } from "react";
import { SampleHelp } from "@/app/(pages)/docs/sample-help";
import { SearchBox } from "@/app/(pages)/docs/search-box";
import { documents } from "@/lib/docs/documents";
import "./docs.css";

export default function DocumentsLayout({ children }: { children: ReactNode }) {
  return (
    <div className="documents">
      <div className="contents">
        <SearchBox />
        <nav aria-label="Documents">
          <ul>
            {documents.map(({ path, title }) => (
              <li key={path}>
                <a href={path}>{title}</a>
              </li>
            ))}
          </ul>
        </nav>
      </div>
      {children}
      <SampleHelp />
    </div>
  );
}
