import { settings } from "@/lib/config/settings";
import { files } from "@/lib/http/register/files";

/** The server's name, version and icons. */
export function describeServer() {
  const { appUrl } = settings();
  return {
    name: "corner-office",
    title: "Corner Office",
    version: "1.0.0",
    websiteUrl: appUrl,
    icons: [
      { src: appUrl + files.touchIcon.path, mimeType: "image/png", sizes: ["180x180"] },
      { src: appUrl + files.vectorIcon.path, mimeType: "image/svg+xml", sizes: ["any"] },
    ],
  };
}
