import type { ReactNode } from "react";
import { Contents } from "@/app/(pages)/docs/contents";
import { LateBanner } from "@/app/(pages)/docs/late-banner";
import { SampleHelp } from "@/app/(pages)/docs/sample-help";
import { SearchBox } from "@/app/(pages)/docs/search-box";
import { documents } from "@/lib/docs/documents";
import "./docs.css";

export default function DocumentsLayout({ children }: { children: ReactNode }) {
  return (
    <div className="documents">
      <div className="contents">
        <SearchBox />
        <Contents pages={documents.map(({ path, title }) => ({ path, title }))} />
      </div>
      {children}
      <SampleHelp />
      <LateBanner />
    </div>
  );
}
