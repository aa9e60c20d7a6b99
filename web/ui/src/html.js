/*
 * Templates: tagged strings instead of a build step for markup.  All values are escaped by preact.
 *
 * Characters that show nothing or turn others around come as escapes of JSON, so that no name or
 * value looks like another one.
 */
import { h } from "preact";
import htm from "htm";

/* Controls but tab and line feed; marks of width zero; what turns the direction of a line or isolates it. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff]/g;

export const visible = (text) => text.replace(HIDDEN, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

const shown = (child) => (typeof child === "string" ? visible(child) : Array.isArray(child) ? child.map(shown) : child);

export const html = htm.bind((type, props, ...children) => h(type, props, ...children.map(shown)));
