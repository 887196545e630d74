"use client";

import dynamic from "next/dynamic";

/** A static import would load Clerk's code (50 KB compressed) under local sign-in too. */
export const LazyClerkPart = dynamic(() => import("./clerk-part"));
