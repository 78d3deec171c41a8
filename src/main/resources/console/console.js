// Opens the page that the URL names.

import { job } from './job.js';
import { jobs } from './jobs.js';
import { keyspace } from './keyspace.js';
import { load } from './load.js';
import { h } from './page.js';
import { Problem, forgetKey, isKeyed, json } from './service.js';
import { status } from './status.js';
import { tune } from './tune.js';

const PAGES = [
	[/^#\/load$/, load, 'Load'],
	[/^#\/jobs$/, jobs, 'Jobs'],
	[/^#\/jobs\/([\w-]+)$/, job, 'Job'],
	[/^#\/keyspace(?:\/([\w-]+)(?:\?at=.*)?)?$/, keyspace, 'Keyspace'],
	[/^#\/tune(?:\?(.*))?$/, tune, 'Tune'],
	[/^#\/service$/, status, 'Service'],
];

let currentPage = new AbortController();

async function open(event) {
	currentPage.abort();
	currentPage = new AbortController();
	const main = document.getElementById('main');
	const [page, id] = PAGES.map((candidate) => [candidate, candidate[0].exec(location.hash)?.[1]]).find(([candidate]) => candidate[0].test(location.hash)) ?? [];
	if (!page) {
		location.replace('#/load');
		return;
	}
	main.replaceChildren();
	document.title = `${page[2]} · Pipeset`;
	for (const link of document.querySelectorAll('nav a')) {
		link.toggleAttribute('aria-current', location.hash.startsWith(link.hash));
		if (link.hasAttribute('aria-current')) {
			link.setAttribute('aria-current', 'page');
		}
	}
	if (event) {
		scrollTo(0, 0);
		main.focus({ preventScroll: true });
	}
	const signal = currentPage.signal;
	try {
		await page[1](main, signal, id);
	} catch (error) {
		if (!signal.aborted) {
			main.append(h('p', { class: 'problem', role: 'alert' }, `This page failed: ${error.message}. Reload it.`));
			throw error;
		}
	}
}

/** Shows which Redis and which version this is. */
async function showService() {
	try {
		const { version, redis } = await json('GET', '', { headers: { Accept: 'application/json' } });
		const element = document.getElementById('redis');
		element.textContent = element.title = redis;
		element.hidden = false;
		document.getElementById('version').textContent = `Pipeset ${version}`;
		// A link sends no key.
		document.querySelector('footer a').hidden = isKeyed();
	} catch (error) {
		if (!(error instanceof Problem)) throw error;
	}
}

const forget = document.getElementById('forget');
forget.hidden = !isKeyed();
forget.addEventListener('click', forgetKey);
document.querySelector('.skip').addEventListener('click', (event) => {
	event.preventDefault();
	document.getElementById('main').focus();
});
addEventListener('hashchange', open);
open();
showService();
