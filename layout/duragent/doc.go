// The tour of the package.

// Package duragent is the memory of duragent as a dialect: facts about the
// world that all agents share, and of each agent a curated MEMORY.md and a log
// of its days, all of it Markdown that people read and edit.
//
//	duragent.yaml                    workspace, agents_dir, world_memory.path
//	.duragent/                       the workspace
//	├── directives/*.md              for all agents; memory.md is made at start
//	├── memory/world/{topic}.md      entries of kind world, named by their topic
//	└── agents/{agent}/
//	    ├── agent.yaml               spec.memory: tools, and where entries are kept
//	    ├── directives/*.md          of this agent
//	    └── memory/
//	        ├── MEMORY.md            the note "MEMORY"
//	        └── daily/2026-02-18.md  entries of kind journal: "2026-02-18 15:46"
//
// A home shows one agent its own memory and the world's. [Dialect] opens it;
// its tools are recall, remember, reflect, update_world and search_memory.
package duragent
