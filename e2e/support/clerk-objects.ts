import type {
  AttributeDataJSON,
  EnvironmentJSON,
  SessionJSON,
  SignInJSON,
  SignUpJSON,
  VerificationJSON,
} from "@clerk/shared/types";
import { makeUser } from "@/tests/support/clerk-instance";

// Objects of Clerk's Frontend API, for an instance that signs in by email code and has no passwords, as far as Clerk's
// scripts read them.

const off: AttributeDataJSON = {
  enabled: false,
  required: false,
  verifications: [],
  used_for_first_factor: false,
  first_factors: [],
  used_for_second_factor: false,
  second_factors: [],
  verify_at_sign_up: false,
};

const emailCode: AttributeDataJSON = {
  ...off,
  enabled: true,
  required: true,
  verifications: ["email_code"],
  used_for_first_factor: true,
  first_factors: ["email_code"],
  verify_at_sign_up: true,
};

const others = "phone_number username first_name last_name password web3_wallet backup_code passkey".split(
  " ",
);

export const environment = {
  object: "environment",
  id: "env_1",
  auth_config: { object: "auth_config", id: "aac_1", single_session_mode: true },
  display_config: {
    object: "display_config",
    id: "dc_1",
    application_name: "Corner Office",
    instance_environment_type: "development",
    preferred_sign_in_strategy: "otp",
  },
  user_settings: {
    attributes: {
      email_address: emailCode,
      ...Object.fromEntries(others.map((attribute) => [attribute, off])),
    },
    actions: { delete_self: false, create_organization: false },
    social: {},
    enterprise_sso: { enabled: false },
    sign_in: { second_factor: { required: false, enabled: false } },
    sign_up: { progressive: true, captcha_enabled: false, mode: "restricted" },
  },
} as unknown as EnvironmentJSON;

function verification(strategy: string, status: VerificationJSON["status"]) {
  return { object: "verification", id: "ver_1", status, strategy, expire_at: Date.now() + 600_000 };
}

const picture = { image_url: "", has_image: false };

export function session(id: string, userId: string, email: string, token: string): SessionJSON {
  const nowMs = Date.now();
  return {
    object: "session",
    id,
    status: "active",
    expire_at: nowMs + 7 * 24 * 60 * 60 * 1000,
    last_active_at: nowMs,
    last_active_token: { object: "token", id: "tok_1", jwt: token },
    user: { ...makeUser(userId, email, 1), ...picture },
    public_user_data: { ...picture, identifier: email, user_id: userId },
    created_at: nowMs,
    updated_at: nowMs,
  } as unknown as SessionJSON;
}

/** A sign-in by email code; complete once it has made a session. */
export function signIn(email: string, sessionId: string | null): SignInJSON {
  const factor = { strategy: "email_code", email_address_id: "idn_1", safe_identifier: email, primary: true };
  return {
    object: "sign_in",
    id: "sia_1",
    status: sessionId ? "complete" : "needs_first_factor",
    supported_identifiers: ["email_address"],
    identifier: email,
    user_data: picture,
    supported_first_factors: [factor],
    first_factor_verification: verification("email_code", sessionId ? "verified" : "unverified"),
    created_session_id: sessionId,
  } as unknown as SignInJSON;
}

/** An invited person's sign-up: the ticket has verified the email, so it is complete. */
export function signUp(email: string, userId: string, sessionId: string): SignUpJSON {
  return {
    object: "sign_up",
    id: "sua_1",
    status: "complete",
    required_fields: ["email_address"],
    optional_fields: [],
    missing_fields: [],
    unverified_fields: [],
    email_address: email,
    created_session_id: sessionId,
    created_user_id: userId,
    verifications: { email_address: verification("ticket", "verified") },
  } as unknown as SignUpJSON;
}
