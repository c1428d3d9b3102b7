// What somebody drops or chooses, and how it is sent: in pieces, so that no size is too large.

import { Refused, post, postBytes } from "./api.js";
import { pause } from "./entering.js";
import { t } from "./texts.js";

const TRIES = 5;
const RETRY = 1_000;
const NOTHING = t.nothingDropped;

const endsIn = (name, endings) => endings.some((ending) => name.toLowerCase().endsWith(ending));
const isHidden = (path) => path.split("/").some((part) => part.startsWith("."));

/** { name, files: [{ path, file }], isFolder } of files with their paths, or a problem. */
function understood(found, { endings, pictures }) {
  const files = found.filter(({ path }) => !isHidden(path));
  if (!files.length) return { problem: NOTHING };
  const inFolder = files.every(({ path }) => path.includes("/"));
  const seen = files.filter(({ path }) => endsIn(path, pictures));
  if (!inFolder && files.length === 1 && !seen.length) {
    const [{ path, file }] = files;
    return endsIn(path, endings) ? { name: path, files, isFolder: false }
      : { problem: t.cannotLabel(path, endings.join(", ")), file };
  }
  const tables = files.filter(({ path }) => endsIn(path, endings));
  if (!seen.length) {
    return { problem: tables.length > 1 ? t.oneFile
      : t.noPictures(pictures.join(", ")) };
  }
  if (!inFolder && tables.length)
    return { problem: t.eitherOr };
  if (!inFolder) return { name: "pictures", files: seen, isFolder: true };
  const name = files[0].path.split("/")[0];
  if (files.some(({ path }) => path.split("/")[0] !== name))
    return { problem: t.oneFolder };
  const below = seen.map(({ path, file }) => ({ path: path.slice(name.length + 1), file }));
  return { name, files: below, isFolder: true };
}

/** What was chosen by a button. */
export const chosenIn = (list) => {
  const found = [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
  return async (home) => understood(found, home);
};

/** All files of an entry that was dropped, which may be a folder. */
async function below(entry) {
  const start = entry.fullPath.replace(/^\//, "");
  if (entry.isFile)
    return [{ path: start, file: await new Promise((done, failed) => entry.file(done, failed)) }];
  const reader = entry.createReader();
  const all = [];
  for (;;) { // a reader gives some at a time
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) break;
    for (const one of some) all.push(...await below(one));
  }
  return all;
}

/** What was dropped; it is gone once the event is over, so it is taken now. */
export const droppedIn = (transfer) => {
  const items = [...transfer.items].filter(({ kind }) => kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  const files = Promise.all(entries.filter(Boolean).map((one) =>
    (one instanceof File ? [{ path: one.name, file: one }] : below(one))));
  files.catch(() => null);
  return async (home) => {
    const found = await files.catch(() => { throw new Refused(t.dropUnread); });
    return understood(found.flat(), home);
  };
};

/** Sends a piece; where the server is away, it is tried again: it takes the same piece twice. */
async function sendPiece(query, piece) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await postBytes(`piece?${query}`, piece);
    } catch (error) {
      if (error instanceof Refused || tries === TRIES) throw error;
      await pause(RETRY * tries);
    }
  }
}

/** The key of what was sent, as `show` tells it; null if the person stopped it. */
export async function send({ name, files, isFolder, piece }, show, isStopped) {
  const total = files.reduce((sum, { file }) => sum + file.size, 0) || 1;
  const { key } = await post("upload", { name, folder: isFolder });
  try {
    let sent = 0;
    for (const [number, { path, file }] of files.entries()) {
      for (let at = 0; at < Math.max(1, file.size); at += piece) {
        if (isStopped()) return await post("cancel", { key }), null;
        const query = new URLSearchParams({ key, path, at });
        await sendPiece(query, file.slice(at, at + piece));
        sent += Math.min(piece, file.size - at);
        show(isFolder ? t.pictureNumber(number + 1, files.length) : t.copying, sent / total);
      }
    }
    return key;
  } catch (error) {
    await post("cancel", { key }).catch(() => null);
    throw error;
  }
}
