/** A method that some address of ours accepts. */
export type Method = "GET" | "HEAD" | "POST" | "OPTIONS";
