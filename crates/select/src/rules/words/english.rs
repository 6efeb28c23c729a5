//! English.

use super::{Forms, NounOrder, TaskLanguage};

pub(super) const ENGLISH: TaskLanguage = TaskLanguage {
    forms: Forms::English,
    head: NounOrder::Last,
    craft: "\
        autocomplete, automate, backport, cache, code, containerise, containerize, debounce, debug, decouple, \
        deduplicate, deserialize, dockerise, dockerize, hardcode, hot reload, hotfix, implement, inline, \
        instrument, internationalize, lazy load, memoise, memoize, minify, mock, modularise, modularize, \
        monkeypatch, paginate, parallelise, parallelize, parse, patch, persist, polyfill, port, precompute, \
        prefetch, program, rate limit, recompile, refactor, reimplement, scaffold, serialise, serialize, stub, \
        throttle, transcode, transpile, typecheck, unit test, unmarshal, vectorize",
    change: "\
        accept, adapt, add, address, adjust, align, allow, annotate, append, apply, avoid, batch, bind, \
        bootstrap, bring, build, bump, bundle, catch, center, centre, change, clean, clean up, collapse, \
        combine, complete, compress, configure, connect, consolidate, convert, correct, cover, craft, create, \
        cut, declare, decode, decompose, decrease, define, delete, deprecate, detect, develop, disable, \
        dispatch, display, ditch, downgrade, drop, edit, embed, emit, enable, encode, encrypt, ensure, escape, \
        expand, expose, extend, extract, filter, finish, fix, flush, format, forward, generalise, generalize, \
        generate, get, get rid, give, group, guard, handle, harden, hide, hook, i'd like, ignore, improve, \
        increase, initialize, inject, insert, integrate, introduce, invalidate, keep, knock, knock together, \
        knock up, let, lint, load, localize, lock, log, lower, make, make sure, map, mark, mask, migrate, \
        modernise, modernize, modify, mount, move, need, omit, optimise, optimize, overhaul, overload, override, \
        pin, populate, preload, prevent, print, produce, propagate, protect, provide, put, raise, rebuild, \
        redirect, redo, reduce, reformat, refresh, register, reject, relax, remove, rename, render, reorganize, \
        repair, replace, reproduce, reset, resolve, restore, restructure, retry, return, revert, rework, \
        rewrite, route, sanitize, secure, seed, separate, set, set up, setup, ship, shorten, shrink, silence, \
        simplify, skip, solve, sort, sort out, speed, spin up, split, stand up, store, stream, strip, style, \
        subscribe, substitute, support, suppress, swallow, swap, switch, sync, throw, tidy, tighten, touch, \
        track, train, trim, tune, turn, tweak, type, undo, unify, update, upgrade, use, validate, vibe code, \
        want, whip, whip up, wire, would like, wrap, write",
    translate: "translate",
    leave: "\
        analyse, analyze, answer, ask, assess, assign, audit, back up, backup, benchmark, book, brainstorm, \
        calculate, call, check, clone, close, collect, commit, compare, compile, compute, confirm, count, \
        deploy, describe, design, diagnose, discuss, document, draft, draw, estimate, evaluate, examine, \
        execute, explain, figure, find, forecast, fork, gather, identify, inspect, install, interview, \
        investigate, invite, label, learn, list, locate, look, look up, measure, merge, monitor, notify, open, \
        order, organise, organize, outline, plan, plot, predict, prepare, prioritise, prioritize, profile, \
        proofread, propose, publish, pull, push, quiz, rank, rate, read, recommend, release, remind, reply, \
        report, rerun, research, respond, restart, review, roll, run, schedule, search, see, send, show, sketch, \
        start, stop, suggest, summarise, summarize, tag, teach, tell, test, trace, transcribe, understand, \
        uninstall, verify, visualize, walk, watch, work out",
    code: "\
        2fa, abi, abstraction, access control, accessibility, accessor, adapter, algorithm, alignment, \
        allocation, allocator, animation, annotation, api, api call, app, application, argument, aria, array, \
        assertion, attribute, auth, authentication, authorization, autocomplete, back-end, backend, background \
        job, backoff, backtrace, base image, bash script, batch job, binary search, binding, bluetooth, \
        boilerplate, boolean, bootloader, bot, bounds check, breakpoint, broken test, bucket, buffer, bug, \
        bugfix, build, build error, build job, build script, build target, bundler, button, byte, bytecode, \
        cache, caching, calculator, callback, calls, canvas, captcha, carousel, chat widget, chatbot, checkbox, \
        checkout, checkout page, checksum, ci, ci pipeline, classifier, cli, cli option, client, closure, code, \
        code base, codebase, codec, cold start, color scheme, colour scheme, command, command line, command line \
        option, commit hook, compatibility, compatibility layer, compile error, compile time, compile times, \
        compiler, compiler flag, compiler warning, compiles, compiling, component, config, config file, \
        configuration, connection pool, console, constant, constraint, constructor, context menu, controller, \
        cookie, cookie banner, coroutine, cors, coverage, crash, crate, crawler, cron, cron expression, cron \
        job, crontab, csrf, css, csv export, daemon, dag, dark mode, dashboard, data class, data model, data \
        pipeline, data structure, database, dataclass, date format, date picker, dead code, deadlock, decoder, \
        decorator, deep link, default argument, default value, demo app, demo page, dep, dependency, dependency \
        injection, deprecation, deprecation warning, deps, deserializer, destructor, dialog, dictionary, \
        directive, dispatcher, div, doc comment, docker-compose, dockerfile, docstring, download button, \
        downloader, driver, dropdown, edge case, email field, email notification, emulator, encoder, encoding, \
        encryption, endpoint, entity, enum, env variable, environment variable, error, error handling, error \
        message, eslint rule, etl, event handler, event loop, event store, example code, exception, executor, \
        exit code, export function, exporter, extension, failing test, favicon, feature flag, feature gate, \
        fetcher, ffi, field, file descriptor, file upload, filter, firmware, fix, fixture, flag, flaky test, \
        float, footer, foreign key, form, formatter, front-end, frontend, function, function call, future, game, \
        generator, generics, getter, git hook, github action, goroutine, gui, handler, handling, hash, hash map, \
        header, header file, health check, heap, helm chart, helper, hook, hotfix, hotkey, html, http status, \
        i18n, icon, icon button, image tag, image upload, import, import function, importer, index, infinite \
        loop, ingress, inheritance, input, input validation, installer, instance, integer, interceptor, \
        interface, interpreter, interrupt, iterator, job queue, json output, jupyter notebook, kernel, keyboard \
        navigation, keyboard shortcut, keyword argument, lambda, landing page, layout, leak, lexer, library, \
        lifetime, linked list, linker, linker error, lint, lint error, lint rule, linter, listener, liveness \
        probe, load balancer, loader, locale, lock, lockfile, log level, log message, log output, logger, \
        logging, logic, login, login form, login page, loop, makefile, manifest, mapper, materialized view, \
        media query, memory layout, memory leak, memory usage, merge conflict, method, microservice, middleware, \
        migration, mock data, mod, modal, model class, module, monorepo, msrv, mutation, mutex, namespace, \
        navbar, neural network, nightly job, notebook, null check, null pointer, off-by-one, one-liner, \
        oneliner, operator, optional argument, output format, overflow, overload, package, padding, page, \
        pagination, panel, panic, parameter, parser, password reset, patch, payload, paywall, pdf export, \
        performance, permission check, picker, pipeline, placeholder, playbook, plugin, pod, pointer, \
        pre-commit, primary key, profile page, progress bar, promise, property, props, prototype, proxy, push \
        notification, python script, query, query parameter, query string, queue, race condition, rate limit, \
        rate limiter, rate limiting, rate-limiting, recursion, redirect, redo, reducer, refactoring, regex, \
        regexp, registration form, regression, regression test, regular expression, release job, renderer, repl, \
        request, resolver, response, rest api, retry, return code, return type, return value, review comment, \
        route, router, rule engine, runtime, sample code, scheduler, scraper, screen reader, scroll, scrollbar, \
        scrolling, sdk, search bar, search box, search function, search input, search result, security hole, \
        seed data, seed script, segfault, segfaults, selector, semaphore, sensor, serialization, serializer, \
        server, service, service worker, session, session handling, setter, settings page, shader, shell script, \
        shopping cart, shortcut key, shutdown, sidebar, sign-up form, signal handler, signup, simulator, \
        singleton, skeleton loader, slice, slider, smart contract, snapshot test, snippet, socket, solidity \
        contract, sorting, source code, spinner, sprite, sql injection, sso, stack overflow, stack size, stack \
        trace, state machine, status bar, status code, status endpoint, stderr, stdin, stdout, stored procedure, \
        stream, string, struct, stylesheet, subclass, subcommand, submodule, support, syscall, tab bar, tab \
        order, tabs, terminal, terraform module, test, test case, test coverage, test data, test failure, test \
        job, test runner, test suite, textarea, thread, thread pool, throws, time zone, timeout, timer, \
        timestamp, timezone, toggle, token, tokenizer, toolbar, tooltip, trait, trait bound, transaction, \
        transaction isolation, trigger, tui, tuple, type error, type hint, types, ui, underflow, undo, unicode, \
        unit file, unit test, upload form, uploader, url, user authentication, username, userscript, utf-8, \
        utility function, validation, validator, variable, vector, view, volume mount, vulnerability, warning, \
        watcher, web app, web service, web site, webapp, webhook, website, websocket, whitespace, widget, \
        workaround, worker, wrapper, xss",
    other: "\
        abstract, acceptance criteria, action item, action items, ad, advert, agenda, agenda item, agreement, \
        alarm, analysis, announcement, annual report, appointment, architecture decision, article, author, \
        backlog, backup plan, bank, banner ad, bar chart, bibliography, bike, bill, bio, blog, blog post, board, \
        book, book review, branch, brand, brand guide, brief, budget, business case, business plan, calendar, \
        campaign, candidate, caption, car, cartoon, case study, certificate, changelog, channel, chapter, \
        checklist, clause, code of conduct, code review, colleague, comic, commit, commit message, comparison, \
        competitor, complaint, conclusion, contact, contract, copy, course, course outline, cover letter, \
        criteria, crossword, curriculum, customer, customer service, customer support, cv, deadline, decision, \
        deck, demo, dentist, deployment, description, design doc, design document, diagram, dictionary entry, \
        diet, dinner, doc, docs, doctor, document, documentation, docx, downloads folder, e-mail, email, \
        employee, essay, estimate, eulogy, event, exam, explanation, faq, feedback, feedback form, film, flight, \
        flowchart, flyer, folder, furniture, garden, gift, glossary, goal, grammar, guest, guide, hackathon, \
        haiku, handbook, headline, help article, hiring, holiday, homework, hotel, icon set, idea, illustration, \
        image, inbox, incident, incident report, infographic, insurance, interview, interview question, \
        introduction, investment, investor, invoice, issue, itinerary, job description, joke, journalist, \
        keynote, kitchen, knowledge base article, kpi, lecture, lesson, lesson plan, letter, letter of intent, \
        letter of recommendation, licence, license, linkedin post, list, literature review, loan, log file, \
        logo, lunch, lyrics, mail, manager, manual, market, market research, meal plan, medical record, meeting, \
        meeting note, meeting notes, melody, memo, message, migration plan, milestone, mind map, mindmap, \
        minutes, mission statement, mockup, name, nda, newsletter, note, novel, nps, offer, okr, onboarding, \
        onboarding guide, onboarding process, opinion, org chart, outage, outline, overview, panel discussion, \
        paper, paragraph, party, pdf, people, persona, petition, photo, phrase, picture, pie chart, pitch, plan, \
        playlist, podcast, poem, policy, poll, portfolio, post, post-mortem, poster, postmortem, pr, pr \
        description, presentation, press, press release, price, pricing, privacy policy, process, product \
        description, programme, project plan, proposal, pull request, pull request description, puzzle, \
        question, questionnaire, quiz, quotation, quote, readme, receipt, recipe, recommendation, reference \
        letter, release note, release plan, reminder, report, research paper, reservation, restaurant, resume, \
        retrospective, review, rfc, rhyme, riddle, roadmap, rollout plan, room, runbook, salary, sales pitch, \
        schedule, security policy, seminar, sentence, sequence diagram, shopping list, slide, slide deck, \
        slides, slogan, song, speech, spelling, spreadsheet, sprint, stakeholder, statement, status, status \
        report, stock, story, strategy, study plan, style guide, subtitle, summary, supplier, support request, \
        support team, support ticket, survey, syllabus, synonym, table of contents, tagline, talk, tap, tax, tax \
        return, team, technical support, terms of service, test plan, text, thesis, ticket, title, to-do list, \
        tone, training plan, transcript, translation, travel plan, trip, tutorial, tweet, use case diagram, user \
        manual, user stories, user story, vacation, value proposition, vendor, video, visa, vision, voice, \
        webinar, wedding, weekly report, white paper, whitepaper, wiki, wiki page, wireframe, wording, workout, \
        workshop",
    stage: "\
        ceremony, commercial, conference, episode, event, film, movie, phone call, play, podcast, sales call, \
        screenplay, show, sketch, speech, theater, theatre, video, webinar, wedding",
    double: "class, feature, macro, program, schema, script, template, type, workflow",
    topic: "\
        about, announcing, comparing, concerning, covering, describing, explaining, for, how, of, on, regarding, \
        saying, whether, why",
    place: "\
        after, as, at, because, before, between, by, from, in, inside, instead, into, over, per, rather, so, \
        than, that, through, to, under, until, using, via, when, where, which, who, with, within, without",
    join: "&, afterwards, and, but, plus, then",
    lead: "\
        actually, again, ahead, also, always, asap, basically, can, carefully, could, finally, first, go, have, \
        hello, help, hey, hi, i, i'd, i'll, just, kindly, let's, lets, like, maybe, me, must, next, now, ok, \
        okay, only, please, pls, plz, properly, quickly, should, simply, so, somebody, someone, still, thanks, \
        to, try, try to, u, urgent, urgently, us, we, we'd, will, would, ya, you",
    ask: "give, i'd like, need, want, would like",
    question: "\
        am, are, did, does, has, how, is, was, were, what, what's, whats, when, where, which, who, whose, why",
    deny: "didn't, do not, don't, dont, never, no need, not, without, won't",
    everything: "any, any code, any file, anything, code, file, files, nothing, something, source",
    pronoun: "everything, it, one, that, them, these, this, those, whatever",
    wish: "has to, must, needs to, ought, should, shouldn't",
    story: &[("as", "i want"), ("as", "i need"), ("as", "i would like")],
};
