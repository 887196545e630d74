import { isDocumentPath } from "@/lib/docs/documents";
import { checkRetirements, listRetirements } from "@/lib/http/retirement";

/* The last step of the build: fails if a retirement is not valid. */
checkRetirements(listRetirements(), Date.now(), isDocumentPath);
