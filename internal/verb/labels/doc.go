// Package labels implements the verbs for labels of many entries: list, change, check, suggest,
// and approve entries that are held back from models.
package labels
