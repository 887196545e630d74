import { auth, createMCPClient, UnauthorizedError } from "@ai-sdk/mcp";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount } from "ai";
import { approval, provider } from "./owner.mjs";

const [, , address, model, question] = process.argv;
const connect = () => createMCPClient({ transport: { type: "http", url: address, authProvider: provider } });
const client = await connect().catch(async (error) => {
  if (!(error instanceof UnauthorizedError)) throw error;
  const parameters = await approval();
  await auth(provider, {
    serverUrl: address,
    authorizationCode: parameters.get("code"),
    callbackIssuer: parameters.get("iss"),
  });
  return connect();
});
const { text } = await generateText({
  model: createOpenAICompatible({ name: "local", baseURL: `${model}/v1`, apiKey: "none" })("stand-in"),
  tools: await client.tools(),
  stopWhen: isStepCount(3),
  prompt: question,
});
process.stdout.write(text);
await client.close();
