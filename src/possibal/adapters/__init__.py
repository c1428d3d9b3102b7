"""Adapters: the models and strategies of possibal in the interfaces of other tools."""
