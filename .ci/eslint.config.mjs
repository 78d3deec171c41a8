// The rules for the console: short functions and files, and no mistakes that a browser finds late.

const GLOBALS = ['AbortController', 'AbortSignal', 'Blob', 'DecompressionStream', 'Event', 'Intl', 'ResizeObserver', 'TextDecoder', 'TextDecoderStream', 'TextEncoder', 'URL', 'URLSearchParams', 'XMLHttpRequest',
  'addEventListener', 'atob', 'clearTimeout', 'dispatchEvent', 'document', 'fetch', 'getSelection', 'location', 'navigator', 'performance', 'scrollTo', 'sessionStorage', 'setTimeout']

export default [{
  files: ['**/*.js'],
  languageOptions: { ecmaVersion: 2024, sourceType: 'module', globals: Object.fromEntries(GLOBALS.map((name) => [name, 'readonly'])) },
  linterOptions: { reportUnusedDisableDirectives: 'error' },
  rules: {
    'max-lines-per-function': ['error', 60],
    'max-lines': ['error', 300],
    'no-unused-vars': 'error',
    'no-undef': 'error',
    'no-const-assign': 'error',
    'no-dupe-keys': 'error',
    'no-unreachable': 'error',
    'prefer-const': 'error',
    eqeqeq: 'error',
  },
}]
