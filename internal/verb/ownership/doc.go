// Package ownership decides which of the homes inside projects belong to the user. A home is the directory of a memory.
package ownership
