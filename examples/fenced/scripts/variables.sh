#!/bin/sh
env | sort
