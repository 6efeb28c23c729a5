// Lists the open notes of the project.

import fs from 'node:fs/promises';
import path from 'node:path';
import type { HookEvent, HookHandler } from 'openclaw/hooks';

const FILE = path.join('notes', 'open.md');
const MOST = 20;

async function openNotes(project: string): Promise<string[]> {
  try {
    const text = await fs.readFile(path.join(project, FILE), 'utf-8');
    return text.split('\n').filter((line) => line.startsWith('- '));
  } catch {
    return [];
  }
}

function told(notes: string[]): string {
  if (notes.length === 0) {
    return `Nothing is noted yet. Notes go into \`${FILE}\`, one line each.`;
  }
  const count = notes.length === 1 ? '1 note is open' : `${notes.length} notes are open`;
  return [`${count} in \`${FILE}\`:`, '', ...notes.slice(0, MOST)].join('\n');
}

const handler: HookHandler = async (event: HookEvent): Promise<void> => {
  const { context } = event;
  if (event.type !== 'agent' || event.action !== 'bootstrap' || !context.workspaceDir) return;
  const content = told(await openNotes(context.workspaceDir));
  context.bootstrapFiles?.push({ path: 'OPEN_NOTES.md', content, virtual: true });
};

export default handler;
