import * as z from "zod";
import { anchorOf, table } from "@/lib/docs/markdown";

/**
 * A table of a schema's fields, as they are sent or taken. Those of a nested object are named by their path, unless it has an
 * `id` of its own: then its type is a link to its section.
 */
export function fieldTable(schema: z.ZodType, io: "input" | "output" = "output"): string {
  const { $ref, $defs, ...made } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  const rows = rowsWithin($defs?.[$ref?.split("/").at(-1) ?? ""] ?? made, "");
  return table(["Field", "Type", "Notes"], rows);
}

type JsonSchema = z.core.JSONSchema.JSONSchema;

function rowsWithin({ properties = {}, required = [] }: JsonSchema, prefix: string): string[][] {
  return Object.entries(properties as Record<string, JsonSchema>).flatMap(([key, property]) => {
    const name = prefix + key;
    const object = [property, ...(property.anyOf ?? [])].find((candidate) => candidate.properties);
    const { description = "", items } = property;
    const type = `${typeOf(property)}${required.includes(key) ? "" : ", optional"}`;
    const within = object
      ? rowsWithin(object, `${name}.`)
      : rowsWithin((items ?? {}) as JsonSchema, `${name}[].`);
    return [[`\`${name}\``, type, description], ...within];
  });
}

function typeOf({ type, enum: values, format, anyOf, $ref, items, ...more }: JsonSchema): string {
  const { additionalProperties: mapped, ...bounds } = more;
  const name = $ref?.split("/").at(-1);
  if (name) return `[${name}](#${anchorOf(name)})`;
  if (anyOf) return anyOf.map(typeOf).join(" or ");
  if (values && values.length <= 5) return `${type}: ${values.map((value) => `\`${value}\``).join(", ")}`;
  if (typeof mapped === "object" && Object.keys(mapped).length > 0) return `map of ${typeOf(mapped)}`;
  const kind = Array.isArray(type) ? type.join(" or ") : type;
  const isOfNamed = typeof items === "object" && !("properties" in items);
  const of = isOfNamed ? ` of ${typeOf(items as JsonSchema)}` : "";
  return `${kind}${of}${format ? `, ${format}` : ""}${boundsOf(bounds)}`;
}

function boundsOf({ minimum, maximum, maxLength, minItems, maxItems }: JsonSchema): string {
  const least = minimum ?? minItems;
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : (maximum ?? maxItems);
  if (maxLength !== undefined) return `, up to ${maxLength} characters`;
  if (least !== undefined && most !== undefined) return `, ${least} to ${most}`;
  return least === undefined ? "" : `, at least ${least}`;
}
