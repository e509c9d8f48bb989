# SPDX-License-Identifier: Apache-2.0
"""Servers, samplers and trainers in pods of their own.

DGL lets a trainer read its machine's part through shared memory, and starts samplers as children of their
trainer. What is here makes every access a request to the servers, and feeds samplers over TCP. It is loaded
into the user's own program when that imports ``dgl.distributed`` (site/sitecustomize.py); the program stays
as it is.
"""
