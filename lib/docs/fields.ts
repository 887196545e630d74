import * as z from "zod";

/** The fields of a schema; those of a nested object are named by their path. */
export function fieldsOf(schema: z.ZodType): FieldDocument[] {
  return fieldsWithin(z.toJSONSchema(schema) as JsonSchema, "");
}

export type FieldDocument = { name: string; type: string; required: boolean; meaning: string };

type JsonSchema = {
  type?: string;
  const?: unknown;
  enum?: string[];
  format?: string;
  minimum?: number;
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  description?: string;
};

function fieldsWithin({ properties = {}, required = [] }: JsonSchema, prefix: string): FieldDocument[] {
  return Object.entries(properties).flatMap(([key, property]) => {
    const name = prefix + key;
    const object = [property, ...(property.anyOf ?? [])].find((candidate) => candidate.properties);
    const field = {
      name,
      type: typeOf(property),
      required: required.includes(key),
      meaning: property.description ?? "",
    };
    return [field, ...(object ? fieldsWithin(object, `${name}.`) : [])];
  });
}

function typeOf({ type, enum: values, format, minimum, anyOf }: JsonSchema): string {
  if (anyOf) return anyOf.map(typeOf).join(" or ");
  if (values && values.length <= 5) return `${type}: ${values.map((value) => `\`${value}\``).join(", ")}`;
  const minimumText = minimum === undefined ? "" : `, at least ${minimum}`;
  return `${type}${format ? `, ${format}` : ""}${minimumText}`;
}
