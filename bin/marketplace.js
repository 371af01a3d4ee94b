#!/usr/bin/env node
// Stacks that name the lines of src cost some 5 % of a start: a server pays for them, and whoever looks for a fault. Source: A-225.
if (process.argv[2] === 'serve' || process.env.MARKETPLACE_DEBUG) process.setSourceMapsEnabled(true)
const { main } = await import('../dist/bundle/main.js')

process.exitCode = await main(process.argv.slice(2))
