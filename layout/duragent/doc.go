// This file contains the package documentation.

// Package duragent defines a layout (called a dialect), which is the form in which the program duragent stores its
// memory. All agents share facts about the world, and each agent has a curated MEMORY.md and daily logs. All files are
// Markdown that people read and edit.
//
//	duragent.yaml                    workspace, agents_dir, world_memory.path
//	.duragent/                       the workspace
//	├── directives/*.md              for all agents; memory.md is created at start
//	├── memory/world/{topic}.md      entries of kind world, named by their topic
//	└── agents/{agent}/
//	    ├── agent.yaml               spec.memory: tools, and where entries are stored
//	    ├── directives/*.md          for this agent
//	    └── memory/
//	        ├── MEMORY.md            the note "MEMORY"
//	        └── daily/2026-02-18.md  entries of kind journal: "2026-02-18 15:46"
//
// A home (the opened directory) presents the memory of one agent and the shared facts about the world. [Dialect] opens
// a home. The home's tools are recall, remember, reflect, update_world and search_memory.
package duragent
