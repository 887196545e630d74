import { settings } from "@/lib/config/settings";
import { files } from "@/lib/http/register/files";
import { type Page, pages } from "@/lib/http/register/pages";

function cardOf(page: Page) {
  if (page.loads.includes("documents")) return files.documentsCard;
  return page === pages.status || page === pages.changes ? files.newsCard : files.socialCard;
}

type SocialCardProps = { page: Page; title: string | undefined; description: string };

/** The preview that other sites show of a link to the page. Its URLs must be absolute. */
export function SocialCard({ page, title, description }: SocialCardProps) {
  const { appUrl } = settings();
  const isDocument = page.loads.includes("documents");
  return (
    <>
      <meta property="og:type" content={isDocument ? "article" : "website"} />
      <meta property="og:site_name" content="Corner Office" />
      <meta property="og:title" content={title ?? "Corner Office"} />
      <meta property="og:description" content={description} />
      <meta property="og:url" content={`${appUrl}${page.path}`} />
      <meta property="og:image" content={`${appUrl}${cardOf(page).path}`} />
      <meta name="twitter:card" content="summary_large_image" />
    </>
  );
}
