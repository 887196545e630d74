"use client";

import dynamic from "next/dynamic";

/** Imported outright, Clerk's code (50 KB compressed) would come with every page that might show it, in local sign-in too. */
export const LazyClerkPart = dynamic(() => import("./clerk-part"));
