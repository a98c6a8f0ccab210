// Package labels implements the verbs that list, change, check and suggest labels, and that approve
// entries which are held back from models.
package labels
