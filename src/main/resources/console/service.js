// The calls of the service. A key is kept by the tab, and nowhere else.

const KEY = 'pipeset.key';

const root = new URL('../', document.baseURI);

/** A call that was answered with an error. Its message is the sentence of the service. */
export class Problem extends Error {

	constructor(message, status = 0, type = '', answer = {}) {
		super(message);
		Object.assign(this, { status, type, answer, job: answer.job });
	}

}

export function address(path) {
	return new URL(path, root).href;
}

export function isKeyed() {
	return sessionStorage.getItem(KEY) !== null;
}

export function forgetKey() {
	sessionStorage.removeItem(KEY);
	location.reload();
}

function authorization() {
	return isKeyed() ? { Authorization: `Bearer ${sessionStorage.getItem(KEY)}` } : {};
}

/** Whether a call had the key of now: one that was refused with the key before is made again, and nobody is asked. */
function isOfNow(authorized) {
	return authorized.Authorization === authorization().Authorization;
}

let asked;

/** Asks for a key; all calls that miss one wait for the same answer. */
function askForKey(why) {
	asked ??= new Promise((resolve) => {
		const dialog = document.getElementById('key');
		const form = dialog.querySelector('form');
		if (isKeyed() && why) {
			document.getElementById('key-why').textContent = why;
		}
		dialog.addEventListener('cancel', (event) => event.preventDefault());
		dialog.addEventListener('close', () => {
			sessionStorage.setItem(KEY, form.elements.key.value.trim());
			form.reset();
			document.getElementById('forget').hidden = false;
			asked = undefined;
			resolve();
		}, { once: true });
		dialog.showModal();
	});
	return asked;
}

let lost;

const pause = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

/** Says that the service does not answer, and ends when it does again. */
export function untilBack() {
	lost ??= (async () => {
		const banner = document.getElementById('lost');
		const since = Date.now();
		for (;;) {
			try {
				// A service that hangs is as good as none.
				const answer = await fetch('index.html', { cache: 'no-store', signal: AbortSignal.timeout(3000) });
				if (answer.ok) {
					break;
				}
			}
			catch {
				// Nobody is there yet.
			}
			const seconds = Math.round((Date.now() - since) / 1000);
			const text = 'The service does not answer. This page goes on as soon as it is back.';
			if (banner.hidden) {
				banner.textContent = text;
				banner.hidden = false;
			}
			banner.title = `For ${seconds} s`;
			await pause(1000);
		}
		if (!banner.hidden) {
			banner.hidden = true;
			document.getElementById('told').textContent = 'The service is back.';
		}
		lost = undefined;
	})();
	return lost;
}

async function problemOf(response) {
	return problem(response.status, await response.text());
}

/** The problem in an answer. */
export function problem(status, text) {
	try {
		const answer = JSON.parse(text);
		return new Problem(answer.detail ?? answer.title ?? `The service answered ${status}`, status, (answer.type ?? '').replace('urn:pipeset:problem:', ''), answer);
	}
	catch {
		return new Problem(`The service answered ${status}, without saying why`, status);
	}
}

/**
 * Makes a call, and answers with its response, which is a good one. Whatever only looks is
 * asked again when the service is back; anything else may have been done, and is not.
 */
export async function call(method, path, { headers = {}, body, signal } = {}) {
	for (;;) {
		let response;
		const authorized = authorization();
		try {
			response = await fetch(address(path), { method, headers: { ...headers, ...authorized }, body, signal, cache: 'no-store' });
		}
		catch (error) {
			if (signal?.aborted) {
				throw error;
			}
			if (method !== 'GET') {
				untilBack();
				throw new Problem('The service did not answer, so that nobody knows whether it has done this. Look at the jobs when it is back.');
			}
			await untilBack();
			await pause(100);
			continue;
		}
		if (response.status === 401) {
			const { message } = await problemOf(response);
			if (isOfNow(authorized)) {
				await askForKey(message);
			}
			continue;
		}
		if (!response.ok) {
			throw await problemOf(response);
		}
		return response;
	}
}

export async function json(method, path, options) {
	return (await call(method, path, options)).json();
}

/** How long nothing may come of a job that is followed: its events come four times a second. */
const SILENCE_MILLIS = 5000;

/** Follows a job to its end, through losses of the service. EventSource could not send a key. */
export async function* follow(id, signal) {
	for (;;) {
		const stop = new AbortController();
		const abort = () => stop.abort();
		signal.addEventListener('abort', abort);
		let silence = setTimeout(abort, SILENCE_MILLIS);
		try {
			const response = await call('GET', `v1/jobs/${id}/events`, { headers: { Accept: 'text/event-stream' }, signal: stop.signal });
			let rest = '';
			for await (const text of chunks(response)) {
				clearTimeout(silence);
				silence = setTimeout(abort, SILENCE_MILLIS);
				const events = (rest + text).split('\n\n');
				rest = events.pop();
				for (const event of events) {
					const data = event.split('\n').filter((line) => line.startsWith('data:')).map((line) => line.substring(5)).join('\n');
					if (data) {
						yield JSON.parse(data);
					}
					if (/^event: ?end$/m.test(event)) {
						return;
					}
				}
			}
		}
		catch (error) {
			if (error instanceof Problem) {
				throw error;
			}
		}
		finally {
			clearTimeout(silence);
			signal.removeEventListener('abort', abort);
			stop.abort();
		}
		if (signal.aborted) {
			return;
		}
		await untilBack();
		await pause(200);
	}
}

/** The texts of an answer as they come. */
export async function* chunks(response) {
	const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done) {
				return;
			}
			yield value;
		}
	}
	finally {
		reader.cancel().catch(() => {});
	}
}

/** Sends a file, and tells how far it is. No fetch does. */
export function upload(path, headers, body, progress, signal) {
	return new Promise((resolve, reject) => {
		const request = new XMLHttpRequest();
		const authorized = authorization();
		request.open('POST', address(path));
		for (const [name, value] of Object.entries({ ...headers, ...authorized })) {
			request.setRequestHeader(name, value);
		}
		request.upload.addEventListener('progress', (event) => progress(event.loaded, event.total));
		request.addEventListener('load', () => {
			if (request.status === 401) {
				(isOfNow(authorized) ? askForKey(problem(401, request.responseText).message) : Promise.resolve())
					.then(() => upload(path, headers, body, progress, signal)).then(resolve, reject);
			}
			else if (request.status >= 400) {
				reject(problem(request.status, request.responseText));
			}
			else {
				resolve(JSON.parse(request.responseText));
			}
		});
		request.addEventListener('error', () => {
			untilBack();
			reject(new Problem('The upload broke off before the service had the whole file, so that nothing of it was run. Send it again.'));
		});
		request.addEventListener('abort', () => reject(new Problem('The upload was stopped before the service had the whole file: nothing of it was run.')));
		signal.addEventListener('abort', () => request.abort());
		request.send(body);
	});
}
