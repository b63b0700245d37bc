// What an Angular application loads before anything else.
import 'zone.js';
