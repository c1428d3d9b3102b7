"""Adapters: possibal inside other libraries, each loaded only where it is asked for."""
