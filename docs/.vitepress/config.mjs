// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Makes a site of the Markdown files of this repository: `./sidewarp site`. Links in these files are those of the
// repository, and a link whose target is missing fails the build.
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const OUT = join(ROOT, 'target/site');
const SOURCES = 'source';

/** Files that pages link to, and that are no pages. They are copied into the site as text. */
const linkedFiles = new Set();

/** Links to headings: the file with the link, and the address. */
const linkedHeadings = [];

/** Pages of the repository's top that would have the name of another page. */
const RENAMED = { 'README.md': 'readme.md', 'SECURITY.md': 'reporting.md' };

/** Returns the path of a page in the site. The pages of docs are at the top. */
function pageOf(path) {
  return RENAMED[path] ?? path.replace(/^docs\//, '').replace(/(^|\/)README\.md$/, '$1index.md');
}

/** Returns the address in the site of a link in a file, or nothing for a directory without a README.md. */
function addressOf(link, file) {
  const [target, anchor] = link.split('#');
  let path = target ? join(dirname(file), decodeURI(target)) : file;
  if (!existsSync(path)) {
    throw new Error(`${relative(ROOT, file)}: the target of the link ${link} is missing`);
  }
  if (statSync(path).isDirectory()) {
    path = join(path, 'README.md');
    if (!existsSync(path)) {
      return undefined;
    }
  }
  const inRepository = relative(ROOT, path);
  if (!path.endsWith('.md')) {
    linkedFiles.add(inRepository);
    return `/${SOURCES}/${inRepository}.txt`;
  }
  return `/${pageOf(inRepository)}${anchor ? `#${anchor}` : ''}`;
}

/** Replaces the relative links of a page. Leaves the text of a link without an address in the site. */
function replaceLinks(markdown) {
  markdown.core.ruler.push('links-of-the-repository', (state) => {
    for (const { children } of state.tokens) {
      for (const token of children ?? []) {
        const link = token.attrGet('href');
        if (token.type !== 'link_open' || /^([a-z]+:|\/)/.test(link) || token.attrGet('class') === 'header-anchor') {
          continue;
        }
        const file = state.env.realPath ?? state.env.path;
        const address = addressOf(link, file);
        if (address?.includes('#')) {
          linkedHeadings.push({ file, address });
        }
        if (address) {
          token.attrSet('href', address);
        } else {
          token.tag = 'span';
          token.attrs = [];
          children.slice(children.indexOf(token)).find(({ type }) => type === 'link_close').tag = 'span';
        }
      }
    }
  });
}

/** Returns the anchor of a heading as GitHub makes it. */
function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/ /g, '-');
}

/** Fails if a link names a heading that its page lacks. */
function checkHeadings() {
  const missing = linkedHeadings.filter(({ address }) => {
    const [page, anchor] = address.split('#');
    return !readFileSync(join(OUT, page.replace(/\.md$/, '.html')), 'utf8').includes(`id="${anchor}"`);
  });
  if (missing.length > 0) {
    const links = new Set(missing.map(({ file, address }) => `${relative(ROOT, file)} to ${address}`));
    throw new Error(`headings that links name are missing: ${[...links].join(', ')}`);
  }
}

function titleOf(file) {
  return readFileSync(file, 'utf8').match(/^# (.*)$/m)[1];
}

/** Returns the sections and links of docs/README.md. A link to a README.md in docs has the pages beside it below it. */
function sidebar() {
  const index = join(ROOT, 'docs/README.md');
  return readFileSync(index, 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.slice(0, section.indexOf('\n')),
      items: [...section.matchAll(/\[([^\]]*)\]\(([^)#]*\.md)\)/g)].map(([, text, link]) => {
        const directory = link.match(/^(\w+)\/README\.md$/)?.[1];
        const items = directory && pagesIn(join(ROOT, 'docs', directory));
        return { text, link: addressOf(link, index), ...(items && { items, collapsed: true }) };
      }),
    }));
}

function pagesIn(directory) {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .map((name) => join(directory, name))
    .map((file) => ({ text: titleOf(file), link: `/${pageOf(relative(ROOT, file))}` }));
}

/** Leaves Vue to Node's loader when pages are rendered: most pages are outside of the directory with Vue. */
const VUE = {
  name: 'vue-of-node',
  enforce: 'pre',
  resolveId: (id, importer, { ssr }) => (ssr && /^vue(\/server-renderer)?$/.test(id) ? { id, external: true } : null),
};

export default {
  title: 'Sidewarp',
  description: 'RDMA for Kubernetes pods, with or without an RDMA NIC',
  lang: 'en',
  srcDir: '..',
  srcExclude: ['**/target/**', '**/src/**', '.github/**', 'CODE_OF_CONDUCT.md'],
  outDir: OUT,
  cacheDir: join(ROOT, 'target/site-cache'),
  vite: { plugins: [VUE] },
  rewrites: pageOf,
  markdown: {
    anchor: { slugify: anchorOf },
    config: replaceLinks,
  },
  transformPageData(page) {
    if (page.relativePath === 'index.md') {
      Object.assign(page.frontmatter, {
        layout: 'home',
        hero: {
          name: 'Sidewarp',
          text: 'RDMA for Kubernetes pods',
          tagline: 'One program reads and writes the memory of another, with or without an RDMA NIC.',
          actions: [
            { text: 'Ten minutes', link: '/tutorial.html' },
            { text: 'Concepts', link: '/concepts.html', theme: 'alt' },
            { text: 'Install in a cluster', link: '/helm/', theme: 'alt' },
          ],
        },
      });
    }
  },
  themeConfig: {
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local' },
  },
  buildEnd() {
    checkHeadings();
    for (const file of linkedFiles) {
      const copy = join(OUT, SOURCES, `${file}.txt`);
      mkdirSync(dirname(copy), { recursive: true });
      copyFileSync(join(ROOT, file), copy);
    }
  },
};
