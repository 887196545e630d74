"use client";

import dynamic from "next/dynamic";

/** Imported outright, Clerk's code (50 KB compressed) would come with these pages under local sign-in too. */
export const LazyClerkPart = dynamic(() => import("./clerk-part"));
