import type { Service } from "@/tests/support/service";

/** The error that the document of the entitlement shows for a status and its code. */
export async function documentedRefusal(service: Service, label: string): Promise<object> {
  const { text } = await service.ask("/docs/api/entitlement.md");
  const [, block = "{}"] = new RegExp(`\`\`\`json ${label}\n([\\s\\S]*?)\n\`\`\``).exec(text) ?? [];
  return JSON.parse(block).error;
}
