// A right agent by hand, with nothing but Node. `--bug NAME` makes one thing wrong, `--style NAME` makes it right in another way.
import './mutant/server.mjs'
